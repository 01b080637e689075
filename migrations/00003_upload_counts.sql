-- +goose Up

ALTER TABLE upload
    ADD COLUMN result_count integer NOT NULL DEFAULT 0 CONSTRAINT upload_result_count_positive CHECK (result_count >= 0),
    ADD COLUMN run_count integer NOT NULL DEFAULT 0 CONSTRAINT upload_run_count_positive CHECK (run_count >= 0);
COMMENT ON COLUMN upload.result_count IS 'results with a source in this upload, which no later write changes; counting them took most of the time of lists';
COMMENT ON COLUMN upload.run_count IS 'runs with such a result';
UPDATE upload SET result_count = n.results, run_count = n.runs
FROM (
    SELECT f.upload_id, count(DISTINCT r.id) AS results, count(DISTINCT r.run_id) AS runs
    FROM upload_file f
    JOIN result_source s ON s.upload_file_id = f.id
    JOIN result r ON r.id = s.result_id
    GROUP BY f.upload_id) n
WHERE upload.id = n.upload_id;

-- +goose Down

ALTER TABLE upload DROP COLUMN result_count, DROP COLUMN run_count;
