package sluice.trino;

/** Runs Trino's server, which knows its version by its own jar only. */
public final class Main {
    public static void main(String[] args) {
        new io.trino.server.Server().start(args[0]);
    }
}
