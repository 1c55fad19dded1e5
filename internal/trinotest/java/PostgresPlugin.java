package sluice.trino;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.plugin.jdbc.BaseJdbcConfig;
import io.trino.plugin.jdbc.ConnectionFactory;
import io.trino.plugin.jdbc.DriverConnectionFactory;
import io.trino.plugin.jdbc.ForBaseJdbc;
import io.trino.plugin.jdbc.JdbcClient;
import io.trino.plugin.jdbc.JdbcPlugin;
import io.trino.plugin.jdbc.credential.CredentialProvider;
import org.postgresql.Driver;

/** A connector "postgresql" over Trino's own library for JDBC, where Trino's own is not to be had: it reads tables. */
public final class PostgresPlugin extends JdbcPlugin {
    public PostgresPlugin() {
        super("postgresql", PostgresModule::new);
    }

    static final class PostgresModule implements Module {
        @Override
        public void configure(Binder binder) {
            binder.bind(JdbcClient.class).annotatedWith(ForBaseJdbc.class).to(PostgresClient.class).in(Scopes.SINGLETON);
        }

        @Provides
        @Singleton
        @ForBaseJdbc
        static ConnectionFactory connections(BaseJdbcConfig config, CredentialProvider credentials, OpenTelemetry telemetry) {
            return DriverConnectionFactory.builder(new Driver(), config.getConnectionUrl(), credentials).setOpenTelemetry(telemetry).build();
        }
    }
}
