package picture

import "fmt"

// colour is an RGB colour with an opacity (255: opaque).
type colour struct{ r, g, b, a uint8 }

func hex(rgb uint32) colour {
	return colour{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 255}
}

// faint gives the colour with another opacity.
func (c colour) faint(a uint8) colour {
	c.a = a
	return c
}

// String writes a colour as #rrggbb, as SVG and CSS do; opacity is stated apart.
func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// theme holds the colours of a picture: the values of the pages' tokens
// (web/assets/src/tokens.css), which a test compares. Blue and vermilion mean
// better and worse, nothing else.
type theme struct {
	bg, ink, ink2, ink3      colour
	line, line2, line3       colour
	better, worse, undecided colour
	betterInk, worseInk      colour // the same hues, dark or light enough for text
	band                     colour // what cannot be told from 1.00
	// builds are the hues of lines that stand side by side: gcc, clang,
	// clang+lto, and three for anything else.
	builds [6]colour
}

var (
	light = theme{
		bg: hex(0xffffff), ink: hex(0x16191d), ink2: hex(0x4e5660), ink3: hex(0x68707a),
		line: hex(0xe3e4e2), line2: hex(0xc8cac8), line3: hex(0x868d95),
		better: hex(0x0072b2), worse: hex(0xd55e00), undecided: hex(0x868d95),
		betterInk: hex(0x00598c), worseInk: hex(0xa34400),
		band:   hex(0x16191d).faint(0x12),
		builds: [6]colour{hex(0x16191d), hex(0x00805d), hex(0xa8518f), hex(0x8a6a00), hex(0x7b5a3c), hex(0x5c4ab8)},
	}
	dark = theme{
		bg: hex(0x121417), ink: hex(0xe8eaec), ink2: hex(0xa9b1ba), ink3: hex(0x8b949e),
		line: hex(0x282c31), line2: hex(0x3c4249), line3: hex(0x767f89),
		better: hex(0x56b4e9), worse: hex(0xf08043), undecided: hex(0x838c96),
		betterInk: hex(0x7cc5ef), worseInk: hex(0xf69b69),
		band:   hex(0xe8eaec).faint(0x17),
		builds: [6]colour{hex(0xe8eaec), hex(0x2fbf95), hex(0xe08cc6), hex(0xd9b23b), hex(0xcfae8c), hex(0xa99cf5)},
	}
)
