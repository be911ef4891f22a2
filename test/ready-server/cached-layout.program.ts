/**
 * Makes the cached layout at a path, as one of several processes: in turns of two inputs, or of one that never ends. Its
 * arguments are the path, what its image is made of, and how often.
 */
import { cachedLayout } from "#src/ready-image/cached-layout.ts"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"

const [path = "", inputs = "", times = ""] = process.argv.slice(2)
const config = { entrypoint: ["/a"], cmd: [], env: [], workingDir: "/", user: "" }

for (let turn = 0; turn < Number(times); turn++) {
  await cachedLayout(path, `${inputs} ${turn % 2}`, async (scratch) => {
    const from = join(scratch, "file")
    await writeFile(from, inputs.repeat(1_000 + turn % 2))
    if (inputs === "endless") {
      process.stdout.write("at work\n")
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
    return { layers: [[{ type: "copy", path: "a", from }], [{ type: "file", path: "same", content: "same" }]], config }
  })
}
