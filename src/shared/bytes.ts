const units = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const

/** Formats a number of bytes: `2 GB`, `1.5 MB`, `12 bytes`. */
export const inBytes = (bytes: number) => {
  const [unit, size] = units.find(([, size]) => bytes >= size) ?? ["bytes", 1]
  return `${Number((bytes / size).toFixed(1))} ${unit}`
}

/** As progress and logs tell it: with one digit, also where that is none. */
export const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`
