-- Tokens of pages: base64url of the version of their form (1 byte), the number of a key (2), a seal (20), the sort keys of a row as
-- a JSON array of texts, and behind all that the first 16 bytes of its HMAC-SHA256. The proxy writes calls of these functions into
-- statements, see package parser/page.

-- What governs reading, in 8 bytes: tokens hold as long as it stays. In plpgsql, as a session plans it once.
CREATE OR REPLACE FUNCTION sluice.page_policies() RETURNS bytea
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT substr(sha256(convert_to(coalesce(string_agg(g.what, ';' ORDER BY g.what COLLATE "C"), ''), 'UTF8')), 1, 8) FROM (
        SELECT 'row_security' || r::text AS what FROM sluice.row_security r
        UNION ALL SELECT 'policy' || p::text FROM sluice.policy p
        UNION ALL SELECT 'mask' || m::text FROM sluice.column_mask m
        UNION ALL SELECT 'home' || p.oid::text || '.' || p.xmin FROM pg_policy p) AS g);
END
$$;
COMMENT ON FUNCTION sluice.page_policies() IS 'a digest of all policies and masks';

CREATE OR REPLACE FUNCTION sluice.page_role() RETURNS oid
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN to_regrole(quote_ident(coalesce(nullif(current_setting('role'), 'none'), session_user)))::oid;
END
$$;
COMMENT ON FUNCTION sluice.page_role() IS 'the role that a statement is run as, whoever owns the function that asks';

-- A seal says what a token is good for: a query with its order (a digest of 8 bytes), a role (4) and policies (8).
CREATE OR REPLACE FUNCTION sluice.page_seal(digest text) RETURNS bytea
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN decode(digest, 'hex') || int4send(sluice.page_role()::int) || sluice.page_policies();
END
$$;
COMMENT ON FUNCTION sluice.page_seal(text) IS 'what tokens of a query are good for at present';

-- The tokens of rows by their sort keys, each an array in JSON; NULL for the last of them, which nothing follows. Rows that have all keys
-- in common with the next one have none: what follows them could not be told apart.
CREATE OR REPLACE FUNCTION sluice.page_tokens(seal bytea, keys text[], tied boolean DEFAULT false) RETURNS text[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head bytea;
    inner_pad bytea;
    outer_pad bytea;
    tokens text;
BEGIN
    IF tied THEN
        RAISE invalid_parameter_value USING MESSAGE = 'two rows of the query of sluice.page have the same sort keys',
            DETAIL = 'No token can tell them apart, and no unique key is known that could.',
            HINT = 'Add columns to its ORDER BY until they are unique.';
    ELSIF substr(seal, 9, 4) IS DISTINCT FROM int4send(sluice.page_role()::int) THEN
        RAISE insufficient_privilege USING MESSAGE = 'a token for another role cannot be made';
    END IF;
    SELECT set_byte('.', 0, 1) || int2send(k.id) || seal, k.inner_pad, k.outer_pad INTO STRICT head, inner_pad, outer_pad
    FROM sluice.page_key k ORDER BY k.id DESC LIMIT 1;
    inner_pad := inner_pad || head;
    SELECT string_agg(encode(head || m.keys || substr(sha256(outer_pad || sha256(inner_pad || m.keys)), 1, 16), 'base64'), ',' ORDER BY m.i) INTO tokens
    FROM (SELECT convert_to(k.k, 'UTF8') AS keys, k.i FROM unnest(keys) WITH ORDINALITY AS k (k, i) WHERE k.i < cardinality(keys)) AS m;
    -- In all of them at once, and by replace: translate takes several times as long as the rest.
    RETURN string_to_array(replace(replace(replace(replace(tokens, '+', '-'), '/', '_'), '=', ''), E'\n', ''), ',') || NULL::text;
END
$$;
COMMENT ON FUNCTION sluice.page_tokens(bytea, text[], boolean) IS 'the tokens of the rows of a page';

-- The sort keys in a token, NULL for none. It raises an error that says what is wrong with a token that was not made for this.
-- Expressions without FROM are computed without a plan of their own, which takes longer than they do.
CREATE OR REPLACE FUNCTION sluice.page_keys(seal bytea, token text, number int) RETURNS text[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    body bytea;
    message bytea;
    signer sluice.page_key;
    found_keys json;
    keys text[];
    wrong text;
    advice text := 'Start over with the first page: leave "after" out, or give NULL.';
BEGIN
    IF token IS NULL THEN
        RETURN NULL;
    END IF;
    IF token !~ '^[A-Za-z0-9_-]+$' OR length(token) % 4 = 1 OR length(token) < 52 THEN
        wrong := 'is damaged';
    ELSE
        body := decode(replace(replace(token, '-', '+'), '_', '/') || repeat('=', -length(token) & 3), 'base64');
        message := substr(body, 1, length(body) - 16);
        IF get_byte(body, 0) > 1 THEN
            wrong := 'is of a form that this version does not know';
            advice := 'A later version has made it: update the extension, or start over with the first page.';
        ELSE
            SELECT * INTO signer FROM sluice.page_key WHERE id = (get_byte(body, 1) << 8) + get_byte(body, 2);
            IF NOT FOUND THEN
                wrong := 'is damaged, or its key was forgotten';
            ELSIF substr(sha256(signer.outer_pad || sha256(signer.inner_pad || message)), 1, 16) IS DISTINCT FROM substr(body, length(body) - 15) THEN
                wrong := 'is damaged';
            ELSIF substr(body, 4, 8) <> substr(seal, 1, 8) THEN
                wrong := 'is of another query, or another order';
                advice := 'Give the token with the query that it came with, letter by letter.';
            ELSIF substr(body, 12, 4) <> substr(seal, 9, 4) THEN
                wrong := 'is of another role';
            ELSIF substr(body, 16, 8) <> substr(seal, 13, 8) THEN
                wrong := 'is older than the policies and masks that hold by now';
            END IF;
        END IF;
    END IF;
    IF wrong IS NULL THEN
        found_keys := convert_from(substr(message, 24), 'UTF8');
        IF json_array_length(found_keys) = number THEN
            FOR i IN 1..number LOOP
                keys[i] := found_keys ->> i - 1;
            END LOOP;
            RETURN keys;
        END IF;
        wrong := 'has other sort keys'; -- which the digest rules out
    END IF;
    RAISE invalid_parameter_value USING MESSAGE = 'the page token ' || wrong, HINT = advice;
END
$$;
COMMENT ON FUNCTION sluice.page_keys(bytea, text, int) IS 'the sort keys in the token of a page';

-- What a page starts from: the seal of its tokens, the sort keys of the row that it comes after, and bits for those among them that
-- are NULL, -1 where it is the first page. Columns that have no NULLs and no masks, as numbers of relations and columns in turn, unique
-- indexes, and bits for keys that may be NULL are what the statement was made from. Each is looked at by a query of its own: one over
-- all of them would be planned anew each time, for its number of rows.
CREATE OR REPLACE FUNCTION sluice.page_start(digest text, token text, number int, not_null bigint[], uniques oid[], nullable int,
    OUT seal bytea, OUT keys text[], OUT nulls int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    changed boolean := false;
BEGIN
    seal := sluice.page_seal(digest);
    keys := sluice.page_keys(seal, token, number);
    nulls := CASE WHEN keys IS NULL THEN -1 ELSE 0 END;
    FOR i IN 1..coalesce(cardinality(keys), 0) LOOP
        nulls := nulls + CASE WHEN keys[i] IS NULL THEN 1 << i - 1 ELSE 0 END;
    END LOOP;
    FOR i IN 1..cardinality(not_null) BY 2 LOOP
        PERFORM FROM pg_attribute a WHERE a.attrelid = not_null[i]::oid AND a.attnum = not_null[i + 1]::int2 AND a.attnotnull
            AND NOT EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation = a.attrelid AND m.column_name = a.attname);
        changed := changed OR NOT FOUND;
    END LOOP;
    FOR i IN 1..cardinality(uniques) LOOP
        PERFORM FROM pg_index x WHERE x.indexrelid = uniques[i] AND x.indisvalid;
        changed := changed OR NOT FOUND;
    END LOOP;
    IF changed OR nulls > 0 AND nulls & ~nullable <> 0 THEN
        RAISE feature_not_supported USING MESSAGE = 'constraints or masks of the tables of sluice.page have changed since the statement was prepared',
            HINT = 'Prepare it again.';
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.page_start(text, text, int, bigint[], oid[], int) IS 'what a page starts from';

-- The same for statements whose rows an engine computes: one value each.
CREATE OR REPLACE FUNCTION sluice.page_first(digest text, token text, number int) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT sluice.page_keys(sluice.page_seal(digest), token, number) IS NULL $$;
COMMENT ON FUNCTION sluice.page_first(text, text, int) IS 'whether a page is the first one';

CREATE OR REPLACE FUNCTION sluice.page_value(digest text, token text, number int, i int) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT (sluice.page_keys(sluice.page_seal(digest), token, number))[i] $$;
COMMENT ON FUNCTION sluice.page_value(text, text, int, int) IS 'a sort key of the row that a page comes after';

-- How many rows a page has, for a number that is asked for.
CREATE OR REPLACE FUNCTION sluice.page_rows(asked bigint, more int DEFAULT 0) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    most text := coalesce(nullif(current_setting('sluice.max_page_size', true), ''), '1000');
BEGIN
    IF most !~ '^[1-9][0-9]{0,5}$' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('invalid value for parameter "sluice.max_page_size": "%s"', most),
            HINT = 'It is a number of rows, from 1 to 999999.';
    ELSIF coalesce(asked, 50) < 1 THEN
        RAISE invalid_parameter_value USING MESSAGE = 'page_size must be greater than zero';
    END IF;
    RETURN least(coalesce(asked, 50), most::bigint) + more;
END
$$;
COMMENT ON FUNCTION sluice.page_rows(bigint, int) IS 'the size of a page, within sluice.max_page_size';

-- Texts of values that say all of it whatever the session's settings are.
CREATE OR REPLACE FUNCTION sluice.page_text(value float8) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET extra_float_digits = 1 AS $$ SELECT value::pg_catalog.text $$;
CREATE OR REPLACE FUNCTION sluice.page_text(value float4) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET extra_float_digits = 1 AS $$ SELECT value::pg_catalog.text $$;
CREATE OR REPLACE FUNCTION sluice.page_text(value interval) RETURNS text
LANGUAGE sql IMMUTABLE STRICT SET intervalstyle = 'iso_8601' AS $$ SELECT value::pg_catalog.text $$;

-- The name for whoever is not behind the proxy, or calls it where the proxy does not see it.
CREATE OR REPLACE FUNCTION sluice.page(query text, page_size integer DEFAULT 50, after text DEFAULT NULL) RETURNS TABLE (page_token text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE feature_not_supported USING MESSAGE = 'sluice.page must stand in the FROM clause of a statement that a client sends to the proxy',
        HINT = 'Connect through the proxy, write sluice.page with its schema, and call it in no function or view.';
END
$$;
COMMENT ON FUNCTION sluice.page(text, integer, text) IS 'a page of the rows of a query, in its order';
