eval "$(python3 - "${KONTOR_DATA:-.kontor}/demo.json" <<'END'
import json, shlex, sys
tenant = next(one for one in json.load(open(sys.argv[1]))["tenants"] if one["regulated"])
admin, app = tenant["adminClient"], tenant["userClient"]
secrets = {"KONTOR_ADMIN": admin["username"], "KONTOR_ADMIN_SECRET": admin["password"],
           "KONTOR_CLIENT": app["username"], "KONTOR_SECRET": app["password"]}
print("export", *(f"{name}={shlex.quote(value)}" for name, value in secrets.items()))
END
)"
