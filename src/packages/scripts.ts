import { type ImageError } from "#src/images/ImageError.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Effect } from "effect"
import { type ScriptMachine } from "./script-root.ts"

/**
 * Runs the machine of a package's install scripts, and ends when `take` has what they wrote. `take` is asked again and
 * again, and answers false until the scripts have ended. The machine is gone afterwards, whatever happens.
 */
export type RunScripts = (
  machine: ScriptMachine,
  take: (address: MachineAddress) => Effect.Effect<boolean, ImageError>
) => Effect.Effect<void, ImageError>

const few = (names: ReadonlyArray<string>) =>
  names.length <= 10 ? names.join(", ") : `${names.slice(0, 10).join(", ")} and ${names.length - 10} more`

/** Tells the owner of a deployment what becomes of install scripts. */
export const aboutScripts = (withScripts: ReadonlyArray<string>, run: boolean): ReadonlyArray<string> =>
  withScripts.length === 0
    ? run ? ["no package of it has install scripts: nothing is run"] : []
    : run
    ? [`the install scripts of these packages will be run, in a machine of their own: ${few(withScripts)}`]
    : [
      `install scripts are not run; these packages have some: ${
        few(withScripts)
      }. If the server needs them, deploy it ` +
      "with packageScripts: true, and they are run inside the sandbox"
    ]

/** npm's own words around the output of a script: its complaint, and before it the script's name and text. */
const ofNpm = /^(?:npm (?:error|ERR!|warn|WARN)\b|> )/
const failedIn = /^npm (?:error|ERR!) path .*\/node_modules\/((?:@[^/]+\/)?[^/]+)$/

/** Why install scripts failed, by the output of their machine: its last words, and which package's they are. */
export const scriptFailure = (lines: ReadonlyArray<string>, what: string): string => {
  const [name] = lines.flatMap((line) => failedIn.exec(line.trim())?.[1] ?? []).slice(-1)
  const own = lines.filter((line) => line.trim() !== "" && !ofNpm.test(line))
  // npm itself may have failed, and then nobody else has said anything.
  const words = (own.length > 0 ? own : lines.filter((line) => line.trim() !== "")).slice(-6)
  const whose = name === undefined ? "the install scripts" : `the install script of ${name}`
  return `${whose} ${what}${words.length === 0 ? " and said nothing" : `: ${words.join(" | ").slice(-1_000)}`}`
}
