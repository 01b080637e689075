// Package postgres keeps measurements in Postgres: the connection pool and all
// SQL. Every exported method is one transaction; lower-case functions take the
// transaction, so that they compose.
//
// Errors that a person can act on are [bench.Error]s: a lost or refused
// connection is of kind unavailable, a missing row of kind not found, what
// contradicts the store of kind conflict. Anything else is internal and names
// the operation.
//
// The methods of [Store]:
//
//	Open(ctx, url string, o Options) (*Store, error)
//	Close()
//	Ping(ctx) error
//	SchemaVersion(ctx) (int64, error)
//
//	Write(ctx, u bench.Upload, b *bench.Batch, detect bench.DetectFunc) (bench.Receipt, error)
//	FindUpload(ctx, sha256 string) (bench.UploadInfo, error)
//	PatchRun(ctx, id int64, p bench.RunPatch, reason, actor string, detect bench.DetectFunc) error
//	WithdrawRun(ctx, id int64, reason, actor string, detect bench.DetectFunc) error
//	RestoreRun(ctx, id int64, reason, actor string, detect bench.DetectFunc) error
//	WithdrawUpload(ctx, id int64, reason, actor string, detect bench.DetectFunc) error
//
//	Series(ctx, f bench.SeriesFilter) ([]bench.Series, error)
//	Facets(ctx, f bench.SeriesFilter) (bench.Facets, error)
//	Coordinates(ctx, f bench.SeriesFilter) ([]bench.CoordinateInfo, error)
//	Totals(ctx) (bench.Totals, error)
//
//	Runs(ctx, f bench.RunFilter) (bench.RunPage, error)
//	Run(ctx, id int64) (bench.RunDetail, error)
//	Uploads(ctx, f bench.UploadFilter) (bench.UploadPage, error)
//	Upload(ctx, id int64) (bench.UploadDetail, error)
//	UploadBytes(ctx, id int64) (filename string, content []byte, err error)
//
//	CreateToken(ctx, name string, role bench.TokenRole) (token string, t bench.Token, err error)
//	Authenticate(ctx, token string) (bench.Token, error)
//	RevokeToken(ctx, name string) error
//	Tokens(ctx) ([]bench.Token, error)
package postgres
