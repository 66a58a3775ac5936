echo "{{< x >}}"
