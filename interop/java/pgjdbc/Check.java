import java.sql.SQLException;

/** The frame of the program: runs the checks that are asked for and prints what they say. */
final class Check {
    static final String SCHEMA = System.getenv().getOrDefault("SLUICE_INTEROP_SCHEMA", "");
    static final String SCRATCH = System.getenv().getOrDefault("SLUICE_INTEROP_SCRATCH", "");

    /** What a check does. */
    interface Body {
        void run(Check say) throws Exception;
    }

    private final String name;

    private Check(String name) {
        this.name = name;
    }

    /** Runs a check, if it is asked for; what it throws is printed. */
    static void run(String name, Body body) {
        String wanted = System.getenv().getOrDefault("SLUICE_INTEROP_CHECKS", "");
        if (!wanted.isEmpty() && !("," + wanted + ",").contains("," + name + ",")) {
            return;
        }
        Check say = new Check(name);
        try {
            body.run(say);
        } catch (Exception e) {
            say.line("FAIL " + describe(e));
        }
    }

    /** Prints a line of the check. */
    void line(Object... parts) {
        StringBuilder out = new StringBuilder(name + "\t");
        for (int i = 0; i < parts.length; i++) {
            String text = String.valueOf(parts[i]);
            out.append(i > 0 ? " " : "").append(text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r"));
        }
        System.out.println(out);
    }

    /** Prints how something fails. */
    void failing(String what, Body body) {
        try {
            body.run(this);
            line(what, "did not fail");
        } catch (Exception e) {
            line(what, describe(e));
        }
    }

    static String describe(Exception e) {
        String state = e instanceof SQLException s ? s.getSQLState() : "-";
        return e.getClass().getName() + " " + state + " " + anonymous(String.valueOf(e.getMessage()));
    }

    /** Takes what the schema is called out of a text, and places, which depend on its length. */
    static String anonymous(String text) {
        return text.replace(SCHEMA + ".", "").replace(SCRATCH + ".", "").replaceAll("Position: \\d+", "Position");
    }
}
