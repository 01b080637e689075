package stats

// bimodalDistance is, by the number of samples, the distance of the means of the best
// two groups, in standard deviations inside them, that 1 % of samples from a uniform
// distribution exceed: of the distributions with one mode the one that looks most like
// two. Of Gaussian samples about one in a thousand exceeds it. Longer samples use the
// last entry. Printed by calibrate -tables.
var bimodalDistance = [...]float64{
	4: 23.71, 5: 15.91, 6: 12.30, 7: 10.28, 8: 9.06, 9: 8.17, 10: 7.64, 11: 7.15, 12: 6.81,
	13: 6.51, 14: 6.32, 15: 6.12, 16: 5.96, 17: 5.85, 18: 5.71, 19: 5.63, 20: 5.53,
	21: 5.47, 22: 5.40, 23: 5.34, 24: 5.27, 25: 5.21, 26: 5.17, 27: 5.12, 28: 5.08, 29: 5.03, 30: 4.99,
}
