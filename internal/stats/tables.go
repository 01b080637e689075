package stats

// bimodalDistance is, by the number of samples, the distance of the means of the best
// two groups, in standard deviations inside them, that 1 % of samples from a uniform
// distribution exceed: of the distributions with one mode the one that looks most like
// two. Of Gaussian samples about one in a thousand exceeds it. Longer samples use the
// last entry. Printed by calibrate -tables.
var bimodalDistance = [...]float64{
	4: 24.22, 5: 15.82, 6: 12.18, 7: 10.33, 8: 9.02, 9: 8.20, 10: 7.57, 11: 7.13, 12: 6.84,
	13: 6.55, 14: 6.30, 15: 6.14, 16: 5.96, 17: 5.86, 18: 5.72, 19: 5.61, 20: 5.53, 21: 5.45,
	22: 5.39, 23: 5.33, 24: 5.25, 25: 5.20, 26: 5.14, 27: 5.10, 28: 5.06, 29: 5.03, 30: 4.99,
}
