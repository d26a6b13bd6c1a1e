/** The version of the API that the specification describes, not of this program. */
export const apiVersion = '1.4.0';
