// Package arch holds no code, only tests of the project as a whole: which package may import which, constructs that
// are forbidden everywhere, where things lie, and whether the files for deployment agree with the program.
package arch
