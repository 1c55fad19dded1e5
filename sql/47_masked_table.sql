-- Masks of tables of this server. Home enforces them: a view in schema sluice_masked has the columns as a reader may see them, and
-- SELECT on the table, as a whole or on a masked column, is nobody's but the owner's. What was granted on the table is granted on the
-- view in its place, and of the table on the columns without a mask. The proxy reads the view wherever such a table is named.

CREATE SCHEMA IF NOT EXISTS sluice_masked;
ALTER SCHEMA sluice_masked OWNER TO CURRENT_USER;
GRANT USAGE ON SCHEMA sluice_masked TO PUBLIC;
COMMENT ON SCHEMA sluice_masked IS 'tables of this server that have masks, as their readers see them';

-- The view of each table. Who was granted SELECT on the table as a whole holds it on its system column tableoid, who was on a
-- masked column holds it on cmin: a REVOKE of SELECT on the table takes these away with the other columns, so that the view's
-- privileges can follow the table's.
CREATE TABLE IF NOT EXISTS sluice.masked_table (
    relation regclass NOT NULL PRIMARY KEY,
    view     regclass NOT NULL
);
GRANT SELECT ON sluice.masked_table TO PUBLIC;
COMMENT ON TABLE sluice.masked_table IS 'tables of this server that have masks, each with the view that stands in for it';

-- Whether the current role sees a column of a table of this server as it is. Superusers are members of all roles.
CREATE OR REPLACE FUNCTION sluice.unmasked(relation regclass, column_name name) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = unmasked.relation), false)
        OR EXISTS (SELECT FROM sluice.column_mask m, unnest(m.unmasked_roles) r
                   WHERE m.relation = unmasked.relation AND m.column_name = unmasked.column_name AND pg_has_role(r, 'USAGE'))
$$;
COMMENT ON FUNCTION sluice.unmasked(regclass, name) IS 'whether no mask holds for the current role';
GRANT EXECUTE ON FUNCTION sluice.unmasked(regclass, name) TO PUBLIC;

-- Refuses who may not mask a table of this server, and tables that have no masks.
CREATE OR REPLACE FUNCTION sluice.must_own_maskable(relation regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    c pg_class;
BEGIN
    SELECT * INTO c FROM pg_class o WHERE o.oid = must_own_maskable.relation;
    IF c.relkind IS NULL OR c.relkind NOT IN ('r', 'p') OR c.relpersistence = 't'
       OR c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'sluice'::regnamespace, 'sluice_masked'::regnamespace) THEN
        RAISE wrong_object_type USING MESSAGE = format('"%s" cannot have masks', coalesce(c.relname, relation::text)),
            HINT = 'Masks are for foreign tables of Sluice and for tables of this server that are not temporary.';
    END IF;
    IF NOT pg_has_role(c.relowner, 'USAGE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', c.relname);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.must_own_maskable(regclass) IS 'fails for all but the owner of a table of this server that can have masks';
