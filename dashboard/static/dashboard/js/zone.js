// Tells the server which zone to write times in. The first page is drawn again once when the zone was not known.
export function tellZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = document.cookie.split("; ").find((part) => part.startsWith("tz="))?.slice(3);
  if (!zone || known === encodeURIComponent(zone)) return;
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
}
