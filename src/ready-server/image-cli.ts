import { buildReadyImage } from "./build-image.ts"

try {
  const { built, digest, path } = await buildReadyImage(process.argv[2] ?? ".berth/ready-image")
  process.stdout.write(`${built ? "Built" : "Unchanged:"} oci:${path}\n${digest}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
