/**
 * Whether a text has no visible character: only white space, control characters, characters that Unicode says to render
 * as nothing (zero-width spaces, soft hyphens, fillers; UAX #44, Default_Ignorable_Code_Point), and the Braille blank.
 */
export const isBlank = (text: string) => !/[^\s\p{Cc}\p{DI}\u2800]/u.test(text)
