-- What leak_alice and others may do in one schema, {s}, for the leak corpus.
CREATE TABLE {s}.words (id int, word text);
INSERT INTO {s}.words VALUES (1, 'one'), (2, 'two'), (3, 'three'), (1001, 'thousand');
CREATE VIEW {s}.docs_all AS SELECT * FROM {s}.docs;
CREATE VIEW {s}.docs_mine WITH (security_invoker = true) AS SELECT id, note, secret FROM {s}.docs;
CREATE VIEW {s}.people_safe WITH (security_barrier = true) AS SELECT p.id, p.email, d.note FROM {s}.people p JOIN {s}.docs d ON d.id = p.doc;
GRANT USAGE ON SCHEMA {s} TO leak_alice, leak_bob, leak_trusted;
GRANT SELECT ON ALL TABLES IN SCHEMA {s} TO leak_alice, leak_bob, leak_trusted;
REVOKE ALL ON {s}.emp, {s}.vault FROM leak_alice, leak_bob;
GRANT SELECT (id, name) ON {s}.emp TO leak_alice;
