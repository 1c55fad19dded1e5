-- Foreign tables of ours with views and materialized views of any depth over them, and tables of this server that have masks with
-- views over these, but for the views that have the masks.
CREATE OR REPLACE VIEW sluice.relations AS
WITH RECURSIVE tree (oid, kinds) AS (
    SELECT ft.ftrelid, '{v,m}'::"char"[]
    FROM pg_catalog.pg_foreign_table ft
    JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver
    JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE starts_with(w.fdwname, 'sluice_') AND w.fdwhandler = 0
    UNION
    SELECT m.relation::oid, '{v}' FROM sluice.masked_table m
    UNION
    SELECT r.ev_class, t.kinds
    FROM tree t
    JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = t.oid
        AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1'
    JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind = ANY (t.kinds)
    WHERE r.ev_class NOT IN (SELECT m.view FROM sluice.masked_table m)
)
SELECT DISTINCT t.oid, t.oid::pg_catalog.regclass AS relation FROM tree t;
COMMENT ON VIEW sluice.relations IS 'foreign tables of Sluice, tables of this server with masks, and the views over them';
