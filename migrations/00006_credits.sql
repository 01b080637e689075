-- +goose Up

-- Every page names the sources of what it shows. Without this each of them reads the
-- environment of every run. The names are not in the index: they may be longer than
-- an entry of one.
CREATE INDEX run_with_source ON run (id) WHERE environment ? 'source_name' AND state = 'active';

-- +goose Down

DROP INDEX run_with_source;
