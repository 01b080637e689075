// Package postgres keeps measurements in Postgres: the connection pool and all
// SQL. Every exported method is one transaction; lower-case functions take the
// transaction, so that they compose.
//
// A write (see [Store.Write]) goes through these steps, each in a file of its
// own: take the locks of the upload and of its servers, which put the identity
// decisions of a server one after another; decide by the rules of package bench
// what is new (decide.go); join or insert runs (join.go); insert and complete
// results (results.go); then settle what follows from results (points.go):
// which figures of matrices count, campaigns, the packed points of the touched
// coordinates and what detection makes of them. Corrections and withdrawals
// (correct.go) end with the same settling. A transaction that had to give way
// to another one is begun again.
//
// What counts: a result of state ok that is neither withdrawn nor superseded. A
// result is withdrawn when its run is, or when every upload that holds it is;
// it is superseded when it comes from a matrix and a measured result has its
// place. A withdrawn result blocks nothing: the same measurement may be stored
// anew with another context, and comes back with the same one.
//
// [Store.Export] gives everything but secrets as [bench.Record]s, read in pages
// from one snapshot; [Store.Import] fills an empty database with them by COPY
// and ends with the same settling. A table that a migration adds is either in
// both (export.go, import.go) or a secret; a test tells when it is neither.
//
// Errors that a person can act on are [bench.Error]s: a lost or refused
// connection is of kind unavailable, a missing row of kind not found, what
// contradicts the store of kind conflict. Anything else is internal and names
// the operation.
package postgres
