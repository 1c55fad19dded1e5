SELECT id, t || v, c || t, t || '-' || v, t LIKE 'o%', t LIKE '_n_', t NOT LIKE '%e', t LIKE '%\%%', t LIKE '\_%', t NOT LIKE '%\\%', v LIKE '%', t LIKE '', c LIKE 'ab', c LIKE 'ab   ', c LIKE 'ab%', c NOT LIKE '%\_' FROM twin ORDER BY id;
SELECT id, length(t), char_length(v), character_length(c), octet_length(t), left(t, 2), left(t, 0), substr(t, 2), substr(t, 2, 2), substring(t FROM 3), substring(c FROM 1 FOR 2), substring(t, 4, 0), substr(v, 99), btrim(t), ltrim(t), rtrim(t), rtrim(c), btrim(v) FROM twin ORDER BY id;
SELECT id, starts_with(t, v), strpos(t, 'n'), position('e' IN t), strpos(t, ''), strpos(t, v), replace(t, 'n', 'N'), replace(t, 'one', ''), md5(t), md5(c) FROM twin ORDER BY id;
SELECT id, lower(t), upper(t) FROM twin WHERE id < 4 ORDER BY id;
SELECT id, lower(t), upper(v) FROM twin ORDER BY id;
