cp -R "$ROOT/tests/sites-shared/." .
# A heading of 300 kB takes no minutes.
for sign in '[' '<'; do
    { printf -- '---\ndraft: true\n---\n# '; head -c 300000 /dev/zero | tr '\0' "$sign"; } >"content/long-$(printf %x "'$sign").md"
done
