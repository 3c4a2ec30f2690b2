mod cases;
mod properties;
mod table;
mod vectors;
