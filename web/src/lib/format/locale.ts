/** The locale of numbers, money and dates on the page: of its language. What people type is read by the same rules. */
export { LOCALE } from '../i18n/language';
