return {a = given(#contents("../ok.md"))}
