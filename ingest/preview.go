package ingest

import "github.com/relqps/relqps/internal/bench"

// Preview is the receipt that storing a batch in an empty database would give:
// what [Check] says in words, for programs. Nothing has an id, and refusals that
// only a store can decide are not in it.
func Preview(b *bench.Batch, sha256 string) bench.Receipt {
	plan := bench.Decide(b, bench.Keys(b), nil)
	plan.YieldMatrices(b, nil)
	r := bench.Receipt{
		SHA256: sha256, Format: b.Format, Files: b.Files, Results: len(plan.New),
		AlreadyThere: len(plan.Additions) + len(plan.Covered), Checks: b.Checks, Warnings: b.Warnings,
	}
	result := func(ref bench.Ref) *bench.Result { return &b.Runs[ref.Run].Results[ref.Result] }
	for _, ref := range plan.New {
		r.Values += len(result(ref).Values)
		r.AlreadyThere += result(ref).Copies
	}
	for _, a := range plan.Additions {
		r.Values += len(a.Values)
		r.AlreadyThere += result(a.Ref).Copies
		if len(a.Values) > 0 {
			r.Merged++
		}
		r.Warnings = append(r.Warnings, a.Warnings...)
	}
	for _, f := range b.Files {
		if f.State == bench.FileRefused {
			r.Refused = append(r.Refused, f.Messages...)
		}
		r.Refused = append(r.Refused, plan.Refused[f.Path]...)
	}
	for _, c := range b.Configs {
		r.Configs = append(r.Configs, bench.ConfigRef{System: c.System, Name: c.Name, Layer: c.Layer})
		r.Warnings = append(r.Warnings, c.Warnings...)
	}
	figures := batchFigures(b)
	for i := range b.Matrices {
		r.Checks = append(r.Checks, bench.CheckMatrix(&b.Matrices[i], figures))
	}
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			for _, w := range b.Runs[i].Results[j].Warnings {
				if !bench.Told(b.Warnings, w) {
					r.Warnings = append(r.Warnings, w)
				}
			}
		}
	}
	r.Warnings = bench.Distinct(r.Warnings)
	return r
}
