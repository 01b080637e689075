-- +goose Up

CREATE TABLE sign_in (
    hash bytea PRIMARY KEY CONSTRAINT sign_in_hash_sha256 CHECK (octet_length(hash) = 32),
    token_id bigint NOT NULL CONSTRAINT sign_in_token REFERENCES token,
    created timestamptz NOT NULL DEFAULT now(),
    expires timestamptz NOT NULL CONSTRAINT sign_in_expires_later CHECK (expires > created)
);
CREATE INDEX sign_in_token_id ON sign_in (token_id);
COMMENT ON TABLE sign_in IS 'Codes of addresses that sign in once; a row goes with its use. The code itself is not stored, only its SHA-256.';

-- +goose Down

DROP TABLE sign_in;
