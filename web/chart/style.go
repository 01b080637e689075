package chart

// Style is the look of a line: a hue, a dash and a marker, so that none of them
// has to tell lines apart alone. Blue and vermilion are missing on purpose: they
// mean better and worse. The zero value is the look of a single line, whose
// colour follows its verdicts.
type Style struct {
	Colour string    `json:"colour,omitempty"` // name of a CSS custom property: --gcc
	Dash   []float32 `json:"dash,omitempty"`   // lengths of strokes and gaps in px; none: solid
	Marker string    `json:"marker,omitempty"` // circle, rect, triangle or diamond
}

// styles are the looks in the order they are given out: six hues with a dash and
// a marker each, then the same hues with others.
var styles = [LinesMax]Style{
	{"--gcc", nil, "circle"},
	{"--clang", []float32{6, 3}, "rect"},
	{"--lto", []float32{2, 2}, "triangle"},
	{"--s4", []float32{10, 3}, "diamond"},
	{"--s5", nil, "rect"},
	{"--s6", []float32{6, 3}, "circle"},
	{"--gcc", []float32{2, 2}, "diamond"},
	{"--clang", nil, "triangle"},
	{"--lto", []float32{10, 3}, "circle"},
	{"--s4", nil, "rect"},
	{"--s5", []float32{2, 2}, "triangle"},
	{"--s6", []float32{10, 3}, "diamond"},
}

func styleAt(i int) Style { return styles[i%len(styles)] }

// compilerStyle keeps the looks of the common compilers the same on all pages.
func compilerStyle(compiler string, i int) Style {
	switch compiler {
	case "gcc":
		return styles[0]
	case "clang":
		return styles[1]
	case "clang+lto":
		return styles[2]
	}
	return styles[3+i%(len(styles)-3)]
}
