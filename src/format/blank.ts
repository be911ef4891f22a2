/**
 * Whether nothing of a text can be seen: white space, control characters, and what Unicode gives no shape of its own
 * (zero-width spaces, soft hyphens, fillers; UAX #44, Default_Ignorable_Code_Point), the Braille blank too.
 */
export const isBlank = (text: string) => !/[^\s\p{Cc}\p{DI}\u2800]/u.test(text)
