SELECT id, u = 'ffffffff-ffff-ffff-ffff-ffffffffffff', u < '80000000-0000-0000-0000-000000000000', u >= '7f000000-0000-0000-0000-000000000000', u::uuid FROM kinds ORDER BY id;
SELECT id, z = '2024-02-29 12:00:00+00', z < '2024-02-29 13:00:00+02', z <> '2024-02-29 12:00:00+00' FROM kinds ORDER BY id;
SELECT id FROM kinds ORDER BY u, z DESC, id;
SELECT u, count(*) FROM kinds GROUP BY u ORDER BY u;
SELECT z, count(*) FROM kinds GROUP BY z ORDER BY z;
SELECT min(z), max(z) FROM kinds;
SELECT a.id, b.id FROM kinds a JOIN kinds b ON a.z = b.z AND a.u <> b.u ORDER BY 1, 2;
