import { runInstaller } from "#src/packages/run-installer.ts"
import { Effect } from "effect"

/** A platform to be killed while an installer works: `orphan.program.ts FOLDER`. Says "installing" when it does. */
const [folder = ""] = process.argv.slice(2)
const script = "require('fs').writeFileSync('pid', String(process.pid)); setTimeout(() => {}, 600_000)"

await Effect.runPromise(
  runInstaller({ name: "node", program: process.execPath, args: ["-e", script], cwd: folder, env: {} })
)
