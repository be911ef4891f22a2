import type * as Fs from "node:fs"

/**
 * Closes the descriptors that child processes would inherit: those without close-on-exec. Node marks the files that it
 * opens, but of those that it inherited only the first ones, up to a gap after the sixteenth.
 *
 * A machine's keeper gets this function as text: it may use nothing from outside its own body.
 */
export function closeInherited(fs: typeof Fs, keep: (descriptor: number) => boolean): void {
  for (const name of fs.readdirSync("/proc/self/fd")) {
    const descriptor = Number(name)
    if (descriptor < 3) continue
    try {
      if (keep(descriptor)) continue
      const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")
      const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? "0", 8)
      const closeOnExec = 0o2000000
      if ((flags & closeOnExec) === 0) fs.closeSync(descriptor)
    } catch (error) {
      // The listing includes its own descriptor, which is closed by now.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
}
