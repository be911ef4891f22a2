import { quotable } from "#src/shared/outside-text.ts"
import { type Finding, severities } from "./Finding.ts"

const rank = (finding: Finding) => severities.indexOf(finding.severity)

const compareText = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

const bySeverity = (a: Finding, b: Finding) =>
  rank(a) - rank(b) || compareText(a.id, b.id) || compareText(a.package, b.package) ||
  compareText(a.version, b.version)

/** What databases write is text of others: made storable, short, and its link one that a browser may open. */
const presentable = (finding: Finding): Finding => ({
  id: quotable(finding.id, 200),
  aliases: [...new Set(finding.aliases)].filter((alias) => alias !== finding.id).slice(0, 20)
    .map((alias) => quotable(alias, 200)),
  package: quotable(finding.package, 300),
  version: quotable(finding.version, 300),
  fixedVersion: finding.fixedVersion === null || finding.fixedVersion === ""
    ? null
    : quotable(finding.fixedVersion, 300),
  severity: finding.severity,
  title: quotable(finding.title.replace(/\s+/g, " ").trim() || finding.id, 300),
  url: finding.url !== null && /^https?:\/\/\S{1,1000}$/.test(finding.url) ? quotable(finding.url, 1020) : null
})

/**
 * Findings as they are kept: each id once for a package and version, the most severe rating of it, and two names of
 * one vulnerability as one. The worst come first.
 */
export const arranged = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const kept = new Map<string, Finding>()
  /** By each of its names. */
  const known = new Map<string, string>()
  for (const finding of findings.map(presentable).sort(bySeverity)) {
    const of = `\n${finding.package}\n${finding.version}`
    const names = [finding.id, ...finding.aliases].map((name) => name + of)
    const key = names.map((name) => known.get(name)).find((found) => found !== undefined) ?? names[0] ?? of
    const worse = kept.get(key)
    for (const name of names) known.set(name, key)
    kept.set(
      key,
      worse === undefined ? finding : {
        ...worse,
        aliases: [...new Set([...worse.aliases, finding.id, ...finding.aliases])].filter((name) => name !== worse.id),
        fixedVersion: worse.fixedVersion ?? finding.fixedVersion
      }
    )
  }
  return [...kept.values()]
}
