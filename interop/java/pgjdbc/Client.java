import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.math.BigDecimal;
import java.security.MessageDigest;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Runs the checks with pgJDBC. */
final class Client {
    static final String ITEM = Check.SCHEMA + ".item";
    static final String SERIES = Check.SCHEMA + ".series";
    static final String SINK = Check.SCHEMA + ".sink";

    public static void main(String[] args) {
        if (args.length > 0) {
            System.out.println(org.postgresql.Driver.class.getPackage().getImplementationVersion() != null
                    ? org.postgresql.Driver.class.getPackage().getImplementationVersion()
                    : org.postgresql.util.DriverInfo.DRIVER_VERSION);
            return;
        }
        Check.run("connect", Client::connect);
        Check.run("introspect", Client::introspect);
        Check.run("types", Client::types);
        Check.run("prepared", Client::prepared);
        Check.run("cursor", Client::cursor);
        Check.run("pipeline", Client::batches);
        Check.run("copy", Client::copies);
        Check.run("cancel", Client::cancels);
        Check.run("rollback", Client::rollback);
        Check.run("errors", Client::errors);
    }

    /** Connects with options of the driver, name and value by turns. */
    static Connection open(String... options) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", System.getenv("PGUSER"));
        p.setProperty("password", System.getenv("PGPASSWORD"));
        p.setProperty("sslmode", System.getenv("PGSSLMODE"));
        if (System.getenv("PGSSLROOTCERT") != null) {
            p.setProperty("sslrootcert", System.getenv("PGSSLROOTCERT"));
            p.setProperty("channelBinding", "require");
        }
        for (int i = 0; i < options.length; i += 2) {
            p.setProperty(options[i], options[i + 1]);
        }
        String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
        return DriverManager.getConnection(url, p);
    }

    static void connect(Check say) throws Exception {
        for (String mode : new String[] {"extended", "simple", "extendedForPrepared", "extendedCacheEverything"}) {
            try (Connection c = open("preferQueryMode", mode, "currentSchema", Check.SCHEMA, "ApplicationName", "interop")) {
                DatabaseMetaData m = c.getMetaData();
                say.line(mode, m.getDatabaseProductName(), m.getDatabaseProductVersion(), m.getUserName(), c.isValid(5), c.getTransactionIsolation(),
                        c.isReadOnly(), c.getSchema().equals(Check.SCHEMA), c.getClientInfo("ApplicationName"));
                rows(say, mode, c.createStatement().executeQuery("SELECT count(*), max(day) FROM item"));
                say.line(c.unwrap(PGConnection.class).getParameterStatuses().get("server_encoding"));
            }
        }
        say.failing("wrong password", s -> open("password", "wrong").close());
    }

    static void introspect(Check say) throws Exception {
        try (Connection c = open()) {
            DatabaseMetaData m = c.getMetaData();
            metadata(say, "table", m.getTables(null, Check.SCHEMA, "%", null));
            metadata(say, "foreign or plain", m.getTables(null, Check.SCHEMA, "it%", new String[] {"TABLE", "FOREIGN TABLE"}));
            metadata(say, "column", m.getColumns(null, Check.SCHEMA, "%", "%"));
            for (String table : new String[] {"item", "series", "sink"}) {
                metadata(say, "key", m.getPrimaryKeys(null, Check.SCHEMA, table));
                metadata(say, "row", m.getBestRowIdentifier(null, Check.SCHEMA, table, DatabaseMetaData.bestRowSession, true));
                metadata(say, "imported", m.getImportedKeys(null, Check.SCHEMA, table));
                metadata(say, "privilege", m.getTablePrivileges(null, Check.SCHEMA, table));
            }
            metadata(say, "kind", m.getTableTypes());
            describe(say, c.prepareStatement("SELECT * FROM " + ITEM + " WHERE id = ? AND at > ?").getMetaData());
            var parameters = c.prepareStatement("SELECT 1 FROM " + ITEM + " WHERE id = ? AND at > ? AND tags = ?").getParameterMetaData();
            for (int i = 1; i <= parameters.getParameterCount(); i++) {
                say.line("parameter", parameters.getParameterTypeName(i), parameters.getParameterClassName(i));
            }
        }
    }

    /** Prints metadata, without the names of database and schema. */
    static void metadata(Check say, String what, ResultSet r) throws SQLException {
        ResultSetMetaData m = r.getMetaData();
        while (r.next()) {
            StringBuilder out = new StringBuilder();
            for (int i = 1; i <= m.getColumnCount(); i++) {
                String name = m.getColumnLabel(i);
                if (!name.contains("CAT") && !name.contains("SCHEM")) {
                    out.append(name).append('=').append(r.getString(i)).append(' ');
                }
            }
            say.line(what, out.toString().trim());
        }
        r.close();
    }

    static void describe(Check say, ResultSetMetaData m) throws SQLException {
        for (int i = 1; i <= m.getColumnCount(); i++) {
            say.line(m.getColumnName(i), m.getTableName(i), m.getColumnTypeName(i), m.getColumnType(i), m.getColumnClassName(i), m.getPrecision(i),
                    m.getScale(i), m.getColumnDisplaySize(i), m.isNullable(i), m.isSigned(i), m.isAutoIncrement(i));
        }
    }

    static void rows(Check say, String what, ResultSet r) throws SQLException {
        while (r.next()) {
            say.line(what, row(r));
        }
        r.close();
    }

    static String row(ResultSet r) throws SQLException {
        StringBuilder out = new StringBuilder();
        for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) {
            Object v = r.getObject(i);
            String text = v instanceof byte[] b ? HexFormat.of().formatHex(b) : v instanceof Array a ? Arrays.toString((Object[]) a.getArray()) : String.valueOf(v);
            out.append(v == null ? "null" : v.getClass().getSimpleName() + "(" + text + ")").append(' ');
        }
        return out.toString().trim();
    }

    static void types(Check say) throws Exception {
        // The threshold -1 has the driver take binary values from the first time on.
        for (String threshold : new String[] {"0", "1", "5", "-1"}) {
            try (Connection c = open("prepareThreshold", threshold)) {
                typesIn(say, c, threshold);
            }
        }
        try (Connection c = open("preferQueryMode", "simple")) {
            typesIn(say, c, "simple");
        }
    }

    static void typesIn(Check say, Connection c, String how) throws SQLException {
        try (PreparedStatement all = c.prepareStatement("SELECT * FROM " + ITEM + " WHERE id <= ? ORDER BY id")) {
            all.setInt(1, how.equals("-1") ? 200 : 40);
            rows(say, how, all.executeQuery());
        }
        try (PreparedStatement one = c.prepareStatement("SELECT at, atz, day, t, ok, big, doc, uid FROM " + ITEM + " WHERE id = ?")) {
            for (int id : new int[] {1, 2, 5, 7, 77, 199}) {
                one.setInt(1, id);
                try (ResultSet r = one.executeQuery()) {
                    r.next();
                    say.line(how, r.getObject(1, LocalDateTime.class), r.getObject(2, OffsetDateTime.class), r.getDate(3), r.getTime(4), r.getBoolean(5), r.getLong(6),
                            r.wasNull(), r.getString(7), r.getString(8));
                }
            }
        }
        String[] conditions = {"name = ?", "price = ?", "qty = ?", "big = ?", "ratio = ?", "r4 = ?", "ok = ?", "day = ?", "at = ?", "atz = ?", "uid = ?", "tags = ?", "raw = ?",
            "t = ?", "note = ?"};
        String[] columns = {"name", "price", "qty", "big", "ratio", "r4", "ok", "day", "at", "atz", "uid", "tags", "raw", "t", "note"};
        for (int id : new int[] {3, 4, 77}) {
            try (ResultSet r = c.createStatement().executeQuery("SELECT * FROM " + ITEM + " WHERE id = " + id)) {
                r.next();
                for (int i = 0; i < columns.length; i++) {
                    try (PreparedStatement p = c.prepareStatement("SELECT array_agg(id ORDER BY id) FROM " + ITEM + " WHERE " + conditions[i])) {
                        p.setObject(1, r.getObject(columns[i]));
                        rows(say, how + " " + id + " " + columns[i], p.executeQuery());
                    }
                }
            }
        }
        try (PreparedStatement p = c.prepareStatement("INSERT INTO " + SINK + " VALUES (?, ?, ?, ?, ?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            p.setInt(1, 7);
            p.setString(2, "é \"q\" ? \\ \n");
            p.setBigDecimal(3, new BigDecimal("12.50"));
            p.setShort(4, (short) -3);
            p.setTimestamp(5, Timestamp.valueOf(LocalDateTime.of(2024, 2, 29, 12, 30, 15, 123456000)));
            p.setBytes(6, new byte[] {0, 1, -1});
            say.line(how, p.executeUpdate());
            rows(say, how, p.getGeneratedKeys());
            p.setInt(1, 8);
            for (int i = 2; i <= 6; i++) {
                p.setNull(i, new int[] {Types.VARCHAR, Types.NUMERIC, Types.SMALLINT, Types.TIMESTAMP, Types.BINARY}[i - 2]);
            }
            say.line(how, p.executeUpdate());
        }
        say.line(how, c.createStatement().executeLargeUpdate("DELETE FROM " + SINK));
    }

    static void prepared(Check say) throws Exception {
        for (String threshold : new String[] {"1", "5"}) {
            try (Connection c = open("prepareThreshold", threshold);
                    PreparedStatement p = c.prepareStatement("SELECT id, name, price FROM " + ITEM + " WHERE id BETWEEN ? AND ? ORDER BY id")) {
                for (int i = 1; i <= 8; i++) {
                    p.setInt(1, i);
                    p.setInt(2, i + 1);
                    rows(say, threshold, p.executeQuery());
                    if (i == 6) {
                        say.failing("error between", s -> c.createStatement().execute("SELECT 1 / (id - 1) FROM " + ITEM));
                    }
                }
                c.createStatement().execute("DEALLOCATE ALL");
                p.setInt(1, 1);
                p.setInt(2, 1);
                say.failing("deallocated", s -> rows(s, threshold, p.executeQuery()));
                say.line(c.isValid(5));
            }
        }
        try (Connection c = open("prepareThreshold", "1"); Statement s = c.createStatement()) {
            s.execute("CREATE TABLE " + Check.SCRATCH + ".changing (a int)");
            s.execute("INSERT INTO " + Check.SCRATCH + ".changing VALUES (1)");
            PreparedStatement p = c.prepareStatement("SELECT * FROM " + Check.SCRATCH + ".changing JOIN " + ITEM + " ON id = a");
            rows(say, "before", p.executeQuery());
            s.execute("ALTER TABLE " + Check.SCRATCH + ".changing ADD b text");
            rows(say, "after", p.executeQuery());
        }
    }

    static void cursor(Check say) throws Exception {
        for (int size : new int[] {1, 7, 999, 1000, 1001, 50000, 0}) {
            try (Connection c = open("prepareThreshold", size % 2 == 0 ? "1" : "5")) {
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("SELECT n, label FROM " + SERIES + " WHERE n <= ? ORDER BY n")) {
                    p.setFetchSize(size);
                    p.setLong(1, size < 10 && size > 0 ? 100 : 50000);
                    ResultSet r = p.executeQuery();
                    long n = 0;
                    long sum = 0;
                    String last = "";
                    while (r.next()) {
                        n++;
                        sum += r.getLong(1);
                        last = r.getString(2);
                    }
                    say.line(size, n, sum, last);
                }
                c.commit();
            }
        }
        try (Connection c = open()) {
            c.setAutoCommit(false);
            Statement s = c.createStatement();
            s.setFetchSize(10);
            ResultSet r = s.executeQuery("SELECT n FROM " + SERIES + " ORDER BY n");
            for (int i = 0; i < 25; i++) {
                r.next();
            }
            ResultSet inner = c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM);
            inner.next();
            r.next();
            say.line("two at once", inner.getInt(1), r.getLong(1));
            r.close();
            s.setMaxRows(17);
            int n = 0;
            for (r = s.executeQuery("SELECT n FROM " + SERIES); r.next(); n++) {}
            say.line("max rows", n);
            s.setMaxRows(0);
            Statement scroll = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
            r = scroll.executeQuery("SELECT id FROM " + ITEM + " ORDER BY id");
            say.line("scroll", r.last(), r.getInt(1), r.absolute(20), r.getInt(1), r.previous(), r.getInt(1));
            r = s.executeQuery("SELECT n FROM " + SERIES + " ORDER BY n");
            r.next();
            c.commit();
            ResultSet gone = r;
            say.failing("after commit", x -> {
                while (gone.next()) {}
            });
        }
    }

    static void batches(Check say) throws Exception {
        for (String rewrite : new String[] {"false", "true"}) {
            try (Connection c = open("reWriteBatchedInserts", rewrite)) {
                c.setAutoCommit(false);
                try (PreparedStatement p = c.prepareStatement("INSERT INTO " + SINK + " (id, name, qty) VALUES (?, ?, ?)")) {
                    for (int i = 0; i < 300; i++) {
                        p.setInt(1, i);
                        p.setString(2, "name " + i);
                        p.setShort(3, (short) i);
                        p.addBatch();
                    }
                    say.line(rewrite, p.executeBatch().length);
                }
                rows(say, rewrite, c.createStatement().executeQuery("SELECT count(*), sum(id), max(name) FROM " + SINK));
                Statement s = c.createStatement();
                s.addBatch("UPDATE " + SINK + " SET qty = 1 WHERE id < 10");
                s.addBatch("DELETE FROM " + SINK + " WHERE id < 20");
                s.addBatch("DELETE FROM " + SINK + " WHERE id >= 20");
                say.line(rewrite, Arrays.toString(s.executeBatch()));
                c.commit();
                try (PreparedStatement p = c.prepareStatement("INSERT INTO " + SINK + " (id, qty) VALUES (?, ?::int)")) {
                    for (int i = 0; i < 5; i++) {
                        p.setInt(1, i);
                        p.setInt(2, i == 3 ? 40000 : i);
                        p.addBatch();
                    }
                    try {
                        p.executeBatch();
                        say.line("did not fail");
                    } catch (BatchUpdateException e) {
                        say.line(rewrite, e.getSQLState(), Arrays.toString(e.getUpdateCounts()), Check.describe(e.getNextException()));
                    }
                }
                c.rollback();
                rows(say, rewrite, c.createStatement().executeQuery("SELECT count(*) FROM " + SINK));
            }
        }
        try (Connection c = open(); Statement s = c.createStatement()) {
            boolean more = s.execute("SELECT 1; SELECT count(*) FROM " + ITEM + "; DELETE FROM " + SINK + "; SELECT max(id) FROM " + ITEM);
            for (; more || s.getUpdateCount() != -1; more = s.getMoreResults()) {
                if (more) {
                    rows(say, "several", s.getResultSet());
                } else {
                    say.line("several", s.getUpdateCount());
                }
            }
        }
        try (Connection c = open("escapeSyntaxCallMode", "select"); CallableStatement call = c.prepareCall("{? = call abs(?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.setInt(2, -5);
            call.execute();
            say.line("call", call.getInt(1));
        }
    }

    static void copies(Check say) throws Exception {
        try (Connection c = open()) {
            CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
            for (String options : new String[] {"", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT binary)"}) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                long n = copy.copyOut("COPY (SELECT * FROM " + ITEM + " ORDER BY id) TO STDOUT " + options, out);
                say.line("out", options, n, out.size(), HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(out.toByteArray())));
            }
            StringBuilder in = new StringBuilder();
            for (int i = 0; i < 20000; i++) {
                in.append(i).append(",\"name, ").append(i).append("\",").append(i / 100.0).append('\n');
            }
            say.line("in", copy.copyIn("COPY " + SINK + " (id, name, price) FROM STDIN WITH (FORMAT csv)", new StringReader(in.toString())));
            rows(say, "in", c.createStatement().executeQuery("SELECT count(*), sum(id), max(name), max(price) FROM " + SINK));
            say.failing("bad", s -> copy.copyIn("COPY " + SINK + " (id, name) FROM STDIN", new StringReader("x\ty\n")));
            var left = copy.copyIn("COPY " + SINK + " (id) FROM STDIN");
            left.writeToCopy("1\n".getBytes(), 0, 2);
            left.cancelCopy();
            rows(say, "left", c.createStatement().executeQuery("SELECT count(*) FROM " + SINK));
            say.line(c.createStatement().executeUpdate("DELETE FROM " + SINK));
        }
    }

    static String endless() {
        return "SELECT count(*) FROM " + SERIES + " a, " + SERIES + " b, " + SERIES + " c WHERE (a.n + b.n + c.n) % 11 = 3";
    }

    static void cancels(Check say) throws Exception {
        for (String text : new String[] {"SELECT pg_sleep(60)", endless()}) {
            try (Connection c = open(); Statement s = c.createStatement()) {
                say.failing("cancel", x -> until(s, text));
                rows(say, "goes on", c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM));
                s.setQueryTimeout(1);
                say.failing("setQueryTimeout", x -> s.execute(text));
                rows(say, "goes on", c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM));
            }
        }
    }

    /** Runs a statement and cancels it until it has ended: a cancel that comes before it hits nothing. */
    static void until(Statement s, String text) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        Thread canceller = new Thread(() -> {
            try {
                while (!ended.await(300, TimeUnit.MILLISECONDS)) {
                    s.cancel();
                }
            } catch (InterruptedException | SQLException e) {
                System.err.println(e);
            }
        });
        canceller.start();
        try {
            s.execute(text);
        } finally {
            ended.countDown();
            canceller.join();
        }
    }

    static void rollback(Check say) throws Exception {
        try (Connection c = open(); Statement s = c.createStatement()) {
            c.setAutoCommit(false);
            c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            for (boolean commit : new boolean[] {false, true}) {
                say.line(s.executeUpdate("INSERT INTO " + SINK + " (id, name) SELECT id, name FROM " + ITEM + " WHERE id <= 10"));
                say.line(s.executeUpdate("UPDATE " + SINK + " SET price = id * 1.5 WHERE id > 5"));
                rows(say, "within", s.executeQuery("SELECT count(*), sum(price) FROM " + SINK));
                if (commit) {
                    c.commit();
                } else {
                    c.rollback();
                }
                rows(say, "after", s.executeQuery("SELECT count(*), sum(price) FROM " + SINK));
                c.commit();
            }
            Savepoint p = c.setSavepoint("here");
            say.failing("in savepoint", x -> s.execute("SELECT 1 / (id - 1) FROM " + ITEM));
            say.failing("aborted", x -> s.execute("SELECT count(*) FROM " + ITEM));
            c.rollback(p);
            rows(say, "rolled back to it", s.executeQuery("SELECT count(*) FROM " + ITEM));
            say.line(s.executeUpdate("DELETE FROM " + SINK));
            c.commit();
        }
        try (Connection c = open("autosave", "always", "cleanupSavepoints", "true")) {
            c.setAutoCommit(false);
            rows(say, "autosave", c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM));
            say.failing("autosave", x -> c.createStatement().execute("SELECT 1 / (id - 1) FROM " + ITEM));
            rows(say, "autosave", c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM));
            c.commit();
        }
        try (Connection c = open("readOnlyMode", "always")) {
            c.setReadOnly(true);
            say.failing("read only", x -> c.createStatement().execute("DELETE FROM " + SINK));
            rows(say, "read only", c.createStatement().executeQuery("SELECT count(*) FROM " + ITEM));
        }
    }

    static void errors(Check say) throws Exception {
        String[] statements = {"SELEC 1", "SELECT * FROM " + Check.SCRATCH + ".missing", "SELECT missing FROM " + ITEM, "SELECT id / 0 FROM " + ITEM,
            "SELECT name::int FROM " + ITEM + " WHERE id = 5", "SELECT sum(name) FROM " + ITEM, "INSERT INTO " + ITEM + " (id) VALUES (NULL)",
            "INSERT INTO " + SINK + " (id, qty) VALUES (1, 40000)", "SELECT * FROM " + ITEM + " WHERE uid = 'x'", "SELECT * FROM " + ITEM + " LIMIT -1"};
        for (String mode : new String[] {"extended", "simple"}) {
            try (Connection c = open("preferQueryMode", mode)) {
                for (String text : statements) {
                    try {
                        c.createStatement().execute(text);
                        say.line("did not fail", Check.anonymous(text));
                    } catch (PSQLException e) {
                        ServerErrorMessage m = e.getServerErrorMessage();
                        say.line(mode, Check.describe(e), m.getSeverity(), m.getDetail(), m.getHint(), m.getTable(), m.getColumn(), m.getRoutine());
                    }
                }
                say.failing("executeQuery of an update", s -> c.createStatement().executeQuery("DELETE FROM " + SINK));
                say.failing("executeUpdate of a query", s -> c.createStatement().executeUpdate("SELECT id FROM " + ITEM));
                say.line(c.isValid(5));
            }
        }
    }
}
