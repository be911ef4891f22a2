import { type BlockLevel } from "#src/config/scanning.ts"
import { type Counts, type Finding, inWords, severities } from "./Finding.ts"

const shown = 5

/** Whether a severity is refused. What nobody has rated is not. */
const isBlocked = (block: BlockLevel, severity: Finding["severity"]) =>
  severities.indexOf(severity) <= severities.indexOf(block)

const named = ({ fixedVersion, id, package: name, version }: Finding) =>
  `${id} in ${name} ${version}${fixedVersion === null ? "" : ` (fixed in ${fixedVersion})`}`

/** Why an image is refused; undefined when it is not. `worst` are its worst findings. */
export const refusalBy = (
  block: BlockLevel | undefined,
  counts: Counts,
  worst: ReadonlyArray<Finding>
): string | undefined => {
  if (block === undefined) return undefined
  const blocked = severities.filter((severity) => isBlocked(block, severity))
    .reduce((sum, severity) => sum + counts[severity], 0)
  if (blocked === 0) return undefined
  const names = worst.filter(({ severity }) => isBlocked(block, severity)).slice(0, shown).map(named)
  const others = blocked > names.length ? ` and ${blocked - names.length} more` : ""
  return `SCAN_BLOCK=${block} refuses the image: its vulnerabilities are ${inWords(counts)}; ` +
    `the worst are ${names.join(", ")}${others}`
}
