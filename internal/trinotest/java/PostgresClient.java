package sluice.trino;

import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.plugin.jdbc.StandardColumnMappings.bigintColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.booleanColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.dateColumnMappingUsingLocalDate;
import static io.trino.plugin.jdbc.StandardColumnMappings.decimalColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.doubleColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.integerColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.realColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.smallintColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.timestampColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.varbinaryColumnMapping;
import static io.trino.plugin.jdbc.StandardColumnMappings.varcharWriteFunction;

import com.google.inject.Inject;
import io.trino.plugin.base.mapping.IdentifierMapping;
import io.trino.plugin.jdbc.BaseJdbcClient;
import io.trino.plugin.jdbc.BaseJdbcConfig;
import io.trino.plugin.jdbc.ColumnMapping;
import io.trino.plugin.jdbc.ConnectionFactory;
import io.trino.plugin.jdbc.ForBaseJdbc;
import io.trino.plugin.jdbc.JdbcTypeHandle;
import io.trino.plugin.jdbc.PredicatePushdownController;
import io.trino.plugin.jdbc.QueryBuilder;
import io.trino.plugin.jdbc.WriteMapping;
import io.trino.plugin.jdbc.logging.RemoteQueryModifier;
import io.trino.spi.StandardErrorCode;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.type.DecimalType;
import io.trino.spi.type.TimestampType;
import io.trino.spi.type.Type;
import io.trino.spi.type.VarcharType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/** What of Postgres' types Trino has. Texts are not compared at Postgres, whose collations differ. */
final class PostgresClient extends BaseJdbcClient {
    @Inject
    PostgresClient(BaseJdbcConfig config, @ForBaseJdbc ConnectionFactory connections, QueryBuilder builder, IdentifierMapping identifiers, RemoteQueryModifier modifier) {
        super("\"", connections, builder, config.getJdbcTypesMappedToVarchar(), identifiers, modifier, false);
    }

    @Override
    public PreparedStatement getPreparedStatement(Connection connection, String sql, Optional<Integer> columns) throws SQLException {
        connection.setAutoCommit(false); // without which the driver collects the rows
        PreparedStatement statement = connection.prepareStatement(sql);
        statement.setFetchSize(1000);
        return statement;
    }

    @Override
    public Optional<ColumnMapping> toColumnMapping(ConnectorSession session, Connection connection, JdbcTypeHandle handle) {
        return Optional.ofNullable(switch (handle.jdbcType()) {
            case Types.BIT, Types.BOOLEAN -> handle.jdbcTypeName().orElse("").equals("bool") ? booleanColumnMapping() : null;
            case Types.SMALLINT -> smallintColumnMapping();
            case Types.INTEGER -> integerColumnMapping();
            case Types.BIGINT -> bigintColumnMapping();
            case Types.REAL -> realColumnMapping();
            case Types.DOUBLE -> doubleColumnMapping();
            case Types.NUMERIC -> decimal(handle);
            case Types.CHAR, Types.VARCHAR -> text(handle);
            case Types.BINARY -> varbinaryColumnMapping();
            case Types.DATE -> dateColumnMappingUsingLocalDate();
            case Types.TIMESTAMP -> handle.jdbcTypeName().orElse("").equals("timestamp") ? timestampColumnMapping(TimestampType.TIMESTAMP_MICROS) : null;
            default -> null;
        });
    }

    private static ColumnMapping decimal(JdbcTypeHandle handle) {
        int precision = handle.requiredColumnSize();
        return precision < 1 || precision > 38 ? null : decimalColumnMapping(DecimalType.createDecimalType(precision, Math.max(handle.decimalDigits().orElse(0), 0)));
    }

    private static ColumnMapping text(JdbcTypeHandle handle) {
        int size = handle.columnSize().orElse(Integer.MAX_VALUE);
        boolean limited = Set.of("varchar", "bpchar").contains(handle.jdbcTypeName().orElse("")) && size < Integer.MAX_VALUE;
        VarcharType type = limited ? VarcharType.createVarcharType(size) : VarcharType.VARCHAR;
        return ColumnMapping.sliceMapping(type, (rows, i) -> utf8Slice(rows.getString(i)), varcharWriteFunction(), PredicatePushdownController.DISABLE_PUSHDOWN);
    }

    @Override
    public WriteMapping toWriteMapping(ConnectorSession session, Type type) {
        throw new TrinoException(StandardErrorCode.NOT_SUPPORTED, "this connector only reads");
    }

    @Override
    protected Optional<BiFunction<String, Long, String>> limitFunction() {
        return Optional.of((sql, limit) -> sql + " LIMIT " + limit);
    }

    @Override
    public boolean isLimitGuaranteed(ConnectorSession session) {
        return true;
    }
}
