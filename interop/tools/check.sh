# The frame of a client's program, for `. ../check.sh`: check NAME runs the function check_NAME if it is asked for, and prints
# what it says as lines of that check.

schema=$SLUICE_INTEROP_SCHEMA
PGOPTIONS="-c search_path=$schema -c client_min_messages=warning"
PSQLRC=/dev/null
PAGER=
export PGOPTIONS PSQLRC PAGER

scratch_dir=$(mktemp -d)
trap 'rm -rf "$scratch_dir"' EXIT

wanted() {
    [ -z "$SLUICE_INTEROP_CHECKS" ] || case ",$SLUICE_INTEROP_CHECKS," in *",$1,"*) true ;; *) false ;; esac
}

# lines makes what it reads lines of a check, without the schemas' names and where the server is.
lines() {
    sed -e 's/\\/\\\\/g' -e "s/	/\\\\t/g" -e "s/\\b$schema\\././g" -e "s/\\b$SLUICE_INTEROP_SCRATCH\\././g" \
        -e "s/schema $schema\$/schema/" -e 's/.*FATAL:/FATAL:/' -e 's/^psql:[^:]*:[0-9]*: //' -e "s/^/$1	/"
}

check() {
    wanted "$1" || return 0
    if [ -n "${2-}" ]; then
        echo "n/a $2" | lines "$1"
    else
        "check_$1" 2>&1 | lines "$1"
    fi
}
