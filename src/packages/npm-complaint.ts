/** Of `name@1.2.3` the name; a scope has an @ too. */
const nameOf = (text: string) => text.replace(/(?<=.)@[^@]*$/, "")

/** The two mistakes of whoever asked for a package, in our words; undefined for any other complaint. */
const missing = (message: string, registry: string): string | undefined => {
  const [, version] = /^npm (?:error|ERR!) notarget No matching version found for (\S+?)\.?$/m.exec(message) ?? []
  if (version !== undefined) return `the registry ${registry} has no version ${version}`
  const [, asked] =
    /^npm (?:error|ERR!) 404 +(?:The requested resource )?'([^'\s]+)' (?:is not|could not)/m.exec(message) ??
      []
  return asked === undefined ? undefined : `the registry ${registry} has no package ${nameOf(asked)}`
}

/** What npm complains of: plainly where it is known, else in its words without its codes and its hints for a terminal. */
export const npmComplaint = (message: string, registry: string) => {
  const said = message.replace(/^npm failed: /, "")
  const known = missing(said, new URL(registry).host)
  if (known !== undefined) return known
  const lines = said.split("\n").map((line) => line.replace(/^npm (?:error|ERR!) ?/, ""))
  const told = lines.filter((line) =>
    line.trim() !== "" && !/^(?:code |errno |syscall |npm warn|Log files|A complete log|404(?! Not Found))/.test(line)
  )
  return told.length === lines.length && lines.length === 1 ? message : `npm failed: ${told.join(" ").slice(0, 1_000)}`
}
