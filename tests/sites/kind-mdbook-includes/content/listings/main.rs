fn main() {
    let a = 1;
    // ANCHOR: here
    println!("{a} ```");
    // ANCHOR_END: here
}
