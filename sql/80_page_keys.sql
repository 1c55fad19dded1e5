-- Keys by which tokens of pages are signed: the two pads of HMAC-SHA256, the last one made signs. Nobody but the owner may see them.
CREATE TABLE IF NOT EXISTS sluice.page_key (
    id        smallint    NOT NULL PRIMARY KEY,
    inner_pad bytea       NOT NULL,
    outer_pad bytea       NOT NULL,
    made      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE sluice.page_key IS 'secret keys of the tokens of pages';
REVOKE ALL ON sluice.page_key FROM PUBLIC;

-- Makes the key of new tokens. Those under older keys stay good, unless they are to be forgotten.
CREATE OR REPLACE FUNCTION sluice.rotate_page_key(forget boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    secret bytea;
    pads bytea[] := ARRAY['', '']::bytea[];
    last smallint;
BEGIN
    -- A uuid has 122 random bits.
    SELECT sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8')) INTO secret FROM generate_series(1, 8);
    FOR i IN 0..63 LOOP
        pads[1] := pads[1] || set_byte('.', 0, CASE WHEN i < 32 THEN get_byte(secret, i) ELSE 0 END # 54);
        pads[2] := pads[2] || set_byte('.', 0, CASE WHEN i < 32 THEN get_byte(secret, i) ELSE 0 END # 92);
    END LOOP;
    LOCK TABLE sluice.page_key IN SHARE ROW EXCLUSIVE MODE;
    SELECT coalesce(max(id), 0) INTO last FROM sluice.page_key;
    IF forget THEN -- but for its number, which no other key may have
        DELETE FROM sluice.page_key;
    END IF;
    INSERT INTO sluice.page_key (id, inner_pad, outer_pad) VALUES (last + 1, pads[1], pads[2]);
END
$$;
REVOKE ALL ON FUNCTION sluice.rotate_page_key(boolean) FROM PUBLIC;
COMMENT ON FUNCTION sluice.rotate_page_key(boolean) IS 'makes a new key for the tokens of pages; forget: older tokens are bad from then on';

SELECT sluice.rotate_page_key() WHERE NOT EXISTS (SELECT FROM sluice.page_key);
