import { kinds, settingOr } from "#src/config/read-setting.ts"
import { readyFolder } from "#src/images/ready-folder.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Effect } from "effect"
import { join } from "node:path"
import { buildReadyImage } from "./build-image.ts"

try {
  // Where the platform of the same settings looks for it, unless another folder is named.
  const home = Effect.runSync(settingOr("BERTH_HOME", kinds.text, ".berth"))
  const { built, digest, path } = await buildReadyImage(process.argv[2] ?? join(home, readyFolder))
  process.stdout.write(`${built ? "Built" : "Unchanged:"} oci:${path}\n${digest}\n`)
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
