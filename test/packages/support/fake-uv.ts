import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "../../support/Settings.ts"

/**
 * In uv's place, which can't be installed from where the suite runs: takes the two commands in uv's form, has the host's
 * pip do the work, and answers in uv's form. Each run is a line of JSON in `record`.
 */
const program = (record: string) =>
  `import json, os, subprocess, sys
sys.dont_write_bytecode = True
with open(${JSON.stringify(record)}, "a") as file:
    print(json.dumps({"args": sys.argv[1:], "env": dict(os.environ)}), file=file)
args, values = [], {}
rest = iter(sys.argv[1:])
for arg in rest:
    if arg in ("-r", "-o"):
        values[arg] = next(rest)
    elif arg.startswith("--"):
        name, _, value = arg.partition("=")
        values[name] = value
    else:
        args.append(arg)

def pip(*more):
    done = subprocess.run([sys.executable, "-I", "-m", "pip", "--isolated", "--no-cache-dir", "install", "--quiet",
        "--proxy=" + os.environ["HTTP_PROXY"], "--index-url=" + values["--default-index"],
        "--only-binary=" + values["--only-binary"], *more], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        name = open(args[2]).read().strip() if len(args) > 2 else "it"
        print("Using CPython 3.x", file=sys.stderr)
        print("  \\u00d7 No solution found when resolving dependencies:", file=sys.stderr)
        print("  \\u2570\\u2500\\u25b6 Because " + name + " was not found in the package registry, we can conclude that", file=sys.stderr)
        print("      your requirements are unsatisfiable.", file=sys.stderr)
        sys.exit(1)

if args[:2] == ["pip", "compile"]:
    wanted = open(args[2]).read().strip()
    pip("--dry-run", "--ignore-installed", "--report=" + values["-o"] + ".json", wanted)
    with open(values["-o"] + ".json") as report, open(values["-o"], "w") as out:
        for one in json.load(report)["install"]:
            info = one["metadata"]
            hashes = ["0" * 64, one["download_info"]["archive_info"]["hashes"]["sha256"]]
            print(" \\\\\\n    ".join([info["name"] + "==" + info["version"], *["--hash=sha256:" + h for h in hashes]]), file=out)
elif args == ["pip", "install"]:
    open(os.path.join(values["--target"], ".lock"), "w").close()
    pip("--no-deps", "--require-hashes", "--no-compile", "--target=" + values["--target"], "--requirement=" + values["-r"])
else:
    sys.exit("unexpected argument")
`

export interface Run {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

/** Folders for PATH: a `python3` that has no pip, and a program called uv. */
export const makeFakeUv = () => {
  const folder = temporaryDirectory("uv")
  const python = execFileSync("python3", ["-I", "-c", "import os, sys; print(os.path.realpath(sys.executable))"])
    .toString().trim()
  execFileSync(python, ["-I", "-m", "venv", "--without-pip", join(folder, "python")])
  const [bin, record] = [join(folder, "bin"), join(folder, "record")]
  mkdirSync(bin)
  writeFileSync(record, "")
  writeFileSync(join(bin, "uv"), `#!${python}\n${program(record)}`, { mode: 0o755 })
  const runs = (): ReadonlyArray<Run> =>
    readFileSync(record, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Run)
  return { python: join(folder, "python", "bin"), uv: bin, runs }
}
