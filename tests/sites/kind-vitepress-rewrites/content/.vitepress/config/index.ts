import { getLocales } from "./i18n";
export default versioned({
  title: "Rewrites",
  locales: getLocales(),
  versioning: { latestVersion: "2" },
  rewrites: { "translated/:locale/(.*)": ":locale/(.*)" },
});
