-- What governs the tables of one schema, {s}, for the leak corpus.
ALTER TABLE {s}.docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON {s}.docs FOR SELECT USING (owner = current_user OR region IN (SELECT region FROM entitled WHERE who = current_user));
CREATE POLICY accents ON {s}.docs AS RESTRICTIVE USING (coalesce(note, '') <> 'hush-é' AND coalesce(note, '') <> (SELECT word FROM limits));
CREATE POLICY limits ON {s}.docs AS RESTRICTIVE USING (coalesce(born, '2000-01-01') < (SELECT until FROM limits));
SELECT sluice.set_row_filter('{s}.people', 'public', $$region = 'eu'$$);
SELECT sluice.set_column_mask('{s}.people', 'email', $$left(email, 1) || '***'$$, '{leak_trusted}');
SELECT sluice.set_column_mask('{s}.people', 'ssn', $$'XXX-XX-' || right(ssn, 4)$$, '{leak_trusted}');
SELECT sluice.set_column_mask('{s}.people', 'pay', $$CASE WHEN owner = current_user THEN pay END$$, '{leak_trusted}');
SELECT sluice.set_column_mask('{s}.people', 'born', $$NULL::date$$, '{leak_trusted}');
SELECT sluice.set_column_mask('{s}.cards', 'number', $$'****' || right(number, 1)$$, '{leak_trusted}');
SELECT sluice.set_column_mask('{s}.cards', 'pin', $$1$$, '{leak_trusted}');
