package web

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// nameKeys are the query keys whose values are names that can change.
var nameKeys = map[string]bench.NameKind{
	"server": bench.NameServer, "workload": bench.NameWorkload, "config": bench.NameConfig, "base_config": bench.NameConfig,
	"a.server": bench.NameServer, "a.workload": bench.NameWorkload, "a.config": bench.NameConfig,
	"b.server": bench.NameServer, "b.workload": bench.NameWorkload, "b.config": bench.NameConfig,
	"detail_server": bench.NameServer, "detail_workload": bench.NameWorkload,
}

// configNameKeys are those of comparisons of configs, where the base is a config.
var configNameKeys = func() map[string]bench.NameKind {
	keys := maps.Clone(nameKeys)
	keys["base"] = bench.NameConfig
	return keys
}()

func nameKeysOf(path string) map[string]bench.NameKind {
	if path == "/configs" || path == "/api/v1/compare/configs" {
		return configNameKeys
	}
	return nameKeys
}

// CurrentNames makes addresses with former names of servers, workloads and configs
// mean what these are called now. find gives for names that are former ones what
// they mean. It is for pages and API alike.
func CurrentNames(next http.Handler, find func(context.Context, []bench.FormerName) ([]bench.FormerName, error), log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if query, changed := currentQuery(r.Context(), r.URL, find, log); changed {
			r = r.Clone(r.Context())
			r.URL.RawQuery = query
			r.RequestURI = r.URL.RequestURI()
		}
		next.ServeHTTP(w, r)
	})
}

// currentQuery gives the query of an address with current names for former ones,
// and whether it had any.
func currentQuery(ctx context.Context, u *url.URL, find func(context.Context, []bench.FormerName) ([]bench.FormerName, error), log *slog.Logger) (string, bool) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false // whoever answers says what is wrong
	}
	var names []bench.FormerName
	keys := nameKeysOf(u.Path)
	for key, kind := range keys {
		for _, v := range query[key] {
			if n := (bench.FormerName{Kind: kind, Old: canonicalName(kind, v)}); n.Old != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 || len(names) > queryValuesMax {
		return "", false
	}
	former, err := find(ctx, names)
	if err != nil {
		// Names that are current need nothing of this; the answer itself will tell
		// whether the database is away.
		log.Warn("former names", "error", err)
	}
	if len(former) == 0 {
		return "", false
	}
	for key, kind := range keys {
		for i, v := range query[key] {
			for _, f := range former {
				if f.Kind == kind && f.Old == canonicalName(kind, v) {
					query[key][i] = f.New
				}
			}
		}
	}
	return query.Encode(), true
}

func canonicalName(kind bench.NameKind, name string) string {
	if kind == bench.NameWorkload {
		return bench.WorkloadName(name)
	}
	return name
}

func (s *server) currentNames(next http.Handler) http.Handler {
	return CurrentNames(next, s.Store.FormerNames, s.Logger)
}
