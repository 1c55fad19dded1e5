-- Without CASCADE, so that nothing of the user's goes with it. The schema itself and schema_migrations belong to who
-- runs the migrations.
DROP EVENT TRIGGER sluice_drop;
DROP EVENT TRIGGER sluice_ddl;
DROP FUNCTION sluice.on_drop();
DROP FUNCTION sluice.on_ddl();
DROP FUNCTION sluice.concerns(oid, oid, text);
DROP VIEW IF EXISTS sluice.servers;
DROP VIEW sluice.shadows;
DROP VIEW sluice.relations;
DROP TABLE sluice.server_option;
DROP TABLE sluice.row_security, sluice.policy, sluice.column_mask;
DROP FUNCTION sluice.check_owner();
DROP FUNCTION sluice.on_option();
DROP FUNCTION sluice.bump_catalog_version();
DROP FUNCTION sluice.get_auth(text);
DROP FUNCTION sluice.public_options(text[]);
DROP VIEW sluice.catalog_version;
DROP TABLE sluice.catalog_change;
DROP SEQUENCE sluice.catalog_step;
DROP FOREIGN DATA WRAPPER sluice_postgres, sluice_duckdb, sluice_clickhouse, sluice_bigquery, sluice_snowflake,
    sluice_databricks, sluice_trino, sluice_mssql, sluice_sql;
