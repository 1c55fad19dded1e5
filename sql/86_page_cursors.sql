-- Cursors that outlive transactions and sessions: a query, and the token of the row that it was read up to.
CREATE TABLE IF NOT EXISTS sluice.keyset_cursor (
    owner      regrole     NOT NULL,
    name       text        NOT NULL,
    query      text        NOT NULL,
    digest     text        NOT NULL, -- of the query and its order
    sort_keys  text[]      NOT NULL,
    form       text        NOT NULL CHECK (form IN ('row_value', 'two_leg', 'bounded_and')),
    index_used name,
    position   text,                 -- NULL before the first row
    done       boolean     NOT NULL DEFAULT false,
    fetched    bigint      NOT NULL DEFAULT 0,
    ttl        interval    NOT NULL,
    opened_at  timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (owner, name)
);
COMMENT ON TABLE sluice.keyset_cursor IS 'cursors of sluice.open_cursor, each for its owner';
ALTER TABLE sluice.keyset_cursor ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON sluice.keyset_cursor;
CREATE POLICY own ON sluice.keyset_cursor FOR SELECT USING (pg_catalog.pg_has_role(owner, 'USAGE'));
GRANT SELECT ON sluice.keyset_cursor TO PUBLIC;

-- The proxy writes these calls with what it has found out of the query.
CREATE OR REPLACE FUNCTION sluice.open_cursor(query text, name text, ttl interval, digest text, sort_keys text[], form text, index_used text)
RETURNS sluice.keyset_cursor
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    opened sluice.keyset_cursor;
BEGIN
    IF coalesce(name, '') = '' THEN
        RAISE invalid_cursor_name USING MESSAGE = 'a keyset cursor must have a name';
    ELSIF coalesce(ttl, '0') <= '0' OR NOT isfinite(now() + ttl) THEN
        RAISE invalid_parameter_value USING MESSAGE = 'ttl must be greater than zero';
    END IF;
    DELETE FROM sluice.keyset_cursor c WHERE (c.owner, c.name) IN (
        SELECT o.owner, o.name FROM sluice.keyset_cursor o WHERE o.expires_at < now() FOR UPDATE SKIP LOCKED);
    INSERT INTO sluice.keyset_cursor AS c (owner, name, query, digest, sort_keys, form, index_used, ttl, expires_at)
    VALUES (sluice.page_role(), name, query, digest, sort_keys, form, index_used, ttl, now() + ttl)
    ON CONFLICT ON CONSTRAINT keyset_cursor_pkey DO NOTHING
    RETURNING * INTO opened;
    IF NOT FOUND THEN
        RAISE duplicate_cursor USING MESSAGE = format('keyset cursor "%s" already exists', name),
            HINT = format('Close it first: SELECT sluice.close_cursor(%L).', name);
    END IF;
    RETURN opened;
END
$$;
COMMENT ON FUNCTION sluice.open_cursor(text, text, interval, text, text[], text, text) IS 'opens a cursor that outlives transactions';

-- What a cursor reads, for the proxy.
CREATE OR REPLACE FUNCTION sluice.cursor_query(name text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_query text;
BEGIN
    SELECT c.query INTO found_query FROM sluice.keyset_cursor c WHERE c.owner = sluice.page_role() AND c.name = cursor_query.name;
    IF NOT FOUND THEN
        RAISE invalid_cursor_name USING MESSAGE = format('keyset cursor "%s" does not exist', name),
            HINT = 'Open it by sluice.open_cursor, as the role that reads it.';
    END IF;
    RETURN found_query;
END
$$;
COMMENT ON FUNCTION sluice.cursor_query(text) IS 'the query of a cursor of the current role';

-- Where a cursor stands, which is locked until the transaction ends: whoever else fetches from it comes after that.
CREATE OR REPLACE FUNCTION sluice.cursor_at(name text, digest text) RETURNS sluice.keyset_cursor
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at sluice.keyset_cursor;
BEGIN
    SELECT * INTO at FROM sluice.keyset_cursor c WHERE c.owner = sluice.page_role() AND c.name = cursor_at.name FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM sluice.cursor_query(name);
    ELSIF at.expires_at < now() THEN
        RAISE invalid_cursor_name USING MESSAGE = format('keyset cursor "%s" has expired', name),
            HINT = format('It was not read for %s. Close it, and open it with a longer ttl.', at.ttl);
    ELSIF at.digest <> cursor_at.digest THEN
        RAISE feature_not_supported USING MESSAGE = format('keyset cursor "%s" reads another query, or in another order, than it did when the statement was prepared', name),
            HINT = 'Prepare the statement again; if keys of the tables have changed, open the cursor again.';
    END IF;
    RETURN at;
END
$$;
COMMENT ON FUNCTION sluice.cursor_at(text, text) IS 'where a cursor of the current role stands';

CREATE OR REPLACE FUNCTION sluice.cursor_position(name text, digest text) RETURNS text
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT (sluice.cursor_at(name, digest)).position $$;
COMMENT ON FUNCTION sluice.cursor_position(text, text) IS 'the token that a cursor stands at';

CREATE OR REPLACE FUNCTION sluice.cursor_done(name text, digest text) RETURNS boolean
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT (sluice.cursor_at(name, digest)).done $$;
COMMENT ON FUNCTION sluice.cursor_done(text, text) IS 'whether a cursor has come to its end';

-- Moves a cursor behind a page: a token of NULL says that there is nothing behind it.
CREATE OR REPLACE FUNCTION sluice.move_cursor(name text, digest text, rows bigint, token text, size bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moved boolean;
BEGIN
    UPDATE sluice.keyset_cursor c SET position = coalesce(token, c.position), done = token IS NULL, fetched = c.fetched + rows, expires_at = now() + c.ttl
    WHERE c.owner = sluice.page_role() AND c.name = move_cursor.name AND c.digest = move_cursor.digest;
    moved := FOUND;
    PERFORM set_config('sluice.last_page', json_build_object('role', encode(int4send(sluice.page_role()::int), 'hex'), 'rows', rows, 'size', size,
        'more', token IS NOT NULL, 'token', token)::text, false);
    RETURN moved;
END
$$;
COMMENT ON FUNCTION sluice.move_cursor(text, text, bigint, text, bigint) IS 'moves a cursor behind a page';

CREATE OR REPLACE FUNCTION sluice.close_cursor(name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM sluice.cursor_query(name);
    DELETE FROM sluice.keyset_cursor c WHERE c.owner = sluice.page_role() AND c.name = close_cursor.name;
END
$$;
COMMENT ON FUNCTION sluice.close_cursor(text) IS 'closes a cursor of the current role';

-- The names for whoever is not behind the proxy, or calls them where the proxy does not see it.
CREATE OR REPLACE FUNCTION sluice.open_cursor(query text, name text, ttl interval DEFAULT '1 day') RETURNS sluice.keyset_cursor
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT NULL::sluice.keyset_cursor FROM sluice.page(query) $$;
COMMENT ON FUNCTION sluice.open_cursor(text, text, interval) IS 'opens a cursor that outlives transactions';
CREATE OR REPLACE FUNCTION sluice.fetch_cursor(name text, page_size integer DEFAULT 50) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT p.page_token FROM sluice.page(name, page_size) p $$;
COMMENT ON FUNCTION sluice.fetch_cursor(text, integer) IS 'the next page of a cursor';
