const a = 1
// #region part
const b = '```'
// #endregion part
