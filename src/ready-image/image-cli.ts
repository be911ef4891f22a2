import { messageOf } from "#src/shared/message-of.ts"
import { buildReadyImage } from "./build-image.ts"

try {
  const { built, digest, path } = await buildReadyImage(process.argv[2] ?? ".berth/ready-image")
  process.stdout.write(`${built ? "Built" : "Unchanged:"} oci:${path}\n${digest}\n`)
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
