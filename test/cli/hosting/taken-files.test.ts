import { takenFiles } from "#src/folder-image/taken-files.ts"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../../support/Settings.ts"

const secret = [
  ".aws/credentials",
  ".netrc",
  ".ssh/config",
  "certs/Server.PEM",
  "deploy/id_ed25519",
  "id_rsa",
  "tls.key"
]

const folderWith = (files: ReadonlyArray<string>, rules?: string) => {
  const folder = temporaryDirectory("taken")
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), "x")
  }
  if (rules !== undefined) writeFileSync(join(folder, ".gitignore"), rules)
  return folder
}

const take = async (folder: string) => {
  const { entries, secrets } = await takenFiles(folder, "app.js", "app")
  const files = entries.filter(({ type }) => type === "copy").map(({ path }) => path.slice("app/".length))
  return { files: files.toSorted(), secrets: secrets.toSorted() }
}

describe("the files of a folder", () => {
  it("are taken without what is well known to be secret, which is told", async () => {
    const { files, secrets } = await take(folderWith([...secret, ".env", "app.js", "keys.js", "id_rsa.pub"]))
    expect(files).toEqual(["app.js", "id_rsa.pub", "keys.js"])
    expect(secrets).toEqual([".aws", ".netrc", ".ssh", "certs/Server.PEM", "deploy/id_ed25519", "id_rsa", "tls.key"])
  })

  it("have a secret where the ignore file asks for it, and do not tell of one that it leaves out anyway", async () => {
    const { files, secrets } = await take(
      folderWith([...secret, "app.js"], "id_rsa\n.ssh\n!certs/*.PEM\n")
    )
    expect(files).toEqual([".gitignore", "app.js", "certs/Server.PEM"])
    expect(secrets).toEqual([".aws", ".netrc", "deploy/id_ed25519", "tls.key"])
  })
})
