const longest = 10 * 60_000

/** Milliseconds until an image that could not be had is asked for again: a registry may be down, or miss it for now. */
export const pauseBefore = (times: number) => Math.min(longest, 15_000 * 2 ** (times - 1))
