import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** A copy of the project as a newcomer has it: what git has (or would take), with the packages installed. */
export const checkout = (target: string) => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" })
  for (const file of files.split("\0").filter((file) => file !== "" && existsSync(join(root, file)))) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    copyFileSync(join(root, file), join(target, file))
  }
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"))
}
